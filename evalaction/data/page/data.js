// The block of data, expanded: one array a column, one place a draw. Nothing here is ever taken for markup.
const readData = () => {
  const block = document.getElementById("data");
  if (!block) return null;
  const data = JSON.parse(block.textContent);
  block.remove();
  const size = data.ids.length * data.draws;
  for (const side of data.sides) {
    for (const name of ["in", "status", "reason", "finish", "endpoint", "behind"]) side[name] = expanded(side[name], size);
  }
  data.routed = data.routes.map(([names, runs]) => {
    const rules = expanded(runs, data.ids.length);
    return (item) => names[rules[item]];
  });
  data.tagged = new Map(data.tags);
  data.unchangedSet = new Set(data.unchanged);
  return data;
};

// [7, 3, 0, 1] is 7, 7, 7, 0.
const expanded = (runs, size) => {
  const values = new Float64Array(size);
  if (!runs) return values;
  let at = 0;
  for (let index = 0; index < runs.length; index += 2) {
    values.fill(runs[index], at, at + runs[index + 1]);
    at += runs[index + 1];
  }
  return values;
};
