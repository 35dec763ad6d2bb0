// Puts the pieces together; everything else on the page is there without any of this.
const dark = () => getComputedStyle(document.documentElement).colorScheme === "dark";

const offerThemes = () => {
  const button = document.getElementById("theme");
  const name = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `${button.textContent} colours`);
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = dark() ? "light" : "dark";
    name();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", name);
  name();
  button.hidden = false;
};

const openForPrint = () => {
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
};

const labelled = (text, field) => {
  const label = make("label", "", text);
  label.append(field);
  return label;
};

const choice = (options, onChange) => {
  const select = make("select");
  for (const [value, text] of options) {
    const option = make("option", "", text);
    option.value = value;
    select.append(option);
  }
  select.addEventListener("change", () => onChange(select.value));
  return select;
};

const makeChips = (list, refresh) => {
  const chips = make("div", "chips");
  chips.setAttribute("role", "group");
  chips.setAttribute("aria-label", "Show only items with");
  FLAGS.forEach((flag, index) => {
    if (!list.counts[index]) return;
    const chip = make("button", "", flag.name);
    if (flag.letter) chip.prepend(mark(flag.letter));
    chip.type = "button";
    chip.setAttribute("aria-pressed", "false");
    chip.append(make("span", "number", count(list.counts[index])));
    chip.addEventListener("click", () => {
      list.wanted.flags ^= flag.bit;
      chip.setAttribute("aria-pressed", String((list.wanted.flags & flag.bit) !== 0));
      refresh();
    });
    chips.append(chip);
  });
  return chips;
};

// Ids in the tables above open their item.
const linkItems = (data, reveal) => {
  const known = new Map(data.ids.map((id, item) => [visible(id), item]));
  for (const code of document.querySelectorAll(".verdict code, [data-section=moved] tbody th code")) {
    const item = known.get(code.textContent);
    if (item === undefined) continue;
    const button = make("button", "toitem", code.textContent);
    button.type = "button";
    button.addEventListener("click", () => reveal(item));
    code.replaceChildren(button);
  }
};

const showDraws = (data) => {
  const place = document.getElementById("grid");
  const list = makeList(data);
  const status = make("p", "quiet");
  const none = make("p", "quiet none", "No item is like this.");
  const panel = makePanel(data, () => { grid.close(); grid.view.focus({ preventScroll: true }); });
  const grid = makeGrid(data, panel.open);
  const refresh = () => {
    const items = list.shown();
    panel.hide();
    grid.close();
    status.textContent = `${count(items.length)} of ${count(data.ids.length)} items`;
    if (items.length > MOST_ROWS) status.textContent += `; the first ${count(MOST_ROWS)} are listed, search for the others`;
    none.hidden = items.length > 0;
    grid.show(items);
  };
  const search = make("input");
  search.type = "search";
  search.placeholder = "Find an item by its id";
  search.setAttribute("aria-label", "Find an item by its id");
  search.addEventListener("input", () => { list.wanted.text = search.value; refresh(); });
  const tools = make("div", "tools");
  const orders = [["worst", "worst first"], ["exam", "as in the exam"], ["id", "by id"]];
  tools.append(search, labelled("order", choice(orders, (value) => { list.wanted.order = value; refresh(); })));
  if (data.tags.length) {
    const tags = [["", "all"], ...data.tags.map(([tag]) => [tag, visible(tag)])];
    tools.append(labelled("tag", choice(tags, (value) => { list.wanted.tag = value; refresh(); })));
  }
  const found = make("div", "found");
  const legend = make("p", "legend");
  for (const letter of "pkcue") {
    const entry = make("span", "count", WORDS[letter]);
    entry.prepend(mark(letter));
    legend.append(entry);
  }
  status.setAttribute("aria-live", "polite");
  found.append(status, legend);
  place.append(tools, makeChips(list, refresh), found, grid.view, none, panel.side);
  place.hidden = false;
  refresh();
  addEventListener("keydown", (event) => { if (event.key === "Escape") panel.close(); });
  linkItems(data, (item) => {
    if (!grid.reveal(item)) return;
    grid.view.focus({ preventScroll: true });
  });
};

offerThemes();
openForPrint();
const data = readData();
if (data) showDraws(data);
