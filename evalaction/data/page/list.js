// Which items are shown, and in which order.
const flagsOf = (data) => {
  const flags = new Uint16Array(data.ids.length);
  const bits = Object.fromEntries(FLAGS.filter((flag) => flag.letter).map((flag) => [flag.letter, flag.bit]));
  for (const side of data.sides) {
    for (let cell = 0; cell < side.letters.length; cell += 1) flags[(cell / data.draws) | 0] |= bits[side.letters[cell]] || 0;
  }
  data.kinds.forEach((kinds, item) => { flags[item] |= kinds; });
  for (const item of data.unchanged) flags[item] |= 1024;
  if (data.routed.length > 1) {
    for (const item of data.ids.keys()) if (data.routed[0](item) !== data.routed[1](item)) flags[item] |= 2048;
  }
  return flags;
};

// Worst first: lost before broke, flipped, gained, steadied, as in the table of what moved; then whoever passes least.
const rankOf = (data) => {
  const rank = new Float64Array(data.ids.length);
  const letters = data.sides[data.sides.length - 1].letters;
  for (let item = 0; item < rank.length; item += 1) {
    const kinds = data.kinds[item] || 0;
    let failed = 0;
    for (let draw = 0; draw < data.draws; draw += 1) failed += letters[item * data.draws + draw] !== "p";
    const first = kinds ? 31 - Math.clz32(kinds & -kinds) : KINDS.length;
    rank[item] = first * 1e6 - failed;
  }
  return rank;
};

const makeList = (data) => {
  const flags = flagsOf(data);
  const rank = rankOf(data);
  const lower = data.ids.map((id) => id.toLowerCase());
  const wanted = { flags: 0, text: "", tag: "", order: "worst" };
  const orders = {
    worst: (left, right) => rank[left] - rank[right] || left - right,
    exam: (left, right) => left - right,
    id: (left, right) => (data.ids[left] < data.ids[right] ? -1 : 1),
  };
  const counts = FLAGS.map((flag) => flags.reduce((sum, held) => sum + ((held & flag.bit) !== 0), 0));
  const shown = () => {
    const text = wanted.text.toLowerCase();
    const from = wanted.tag ? data.tagged.get(wanted.tag) : data.ids.keys();
    const found = [];
    for (const item of from) {
      if (wanted.flags && !(flags[item] & wanted.flags)) continue;
      if (text && !lower[item].includes(text)) continue;
      found.push(item);
    }
    return found.sort(orders[wanted.order]);
  };
  return { wanted, counts, shown };
};
