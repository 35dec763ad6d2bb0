// The list of every draw: only the rows in view exist, and they are used again while the list scrolls.
const MOST_ROWS = 250000; // browsers limit how tall a page may be

const makeGrid = (data, onOpen) => {
  const view = make("div", "view");
  const head = make("div", "head");
  const space = make("div", "space");
  const columns = data.arms.length * data.draws;
  const state = { items: [], pool: [], row: 0, column: 0, opened: null, active: null, height: 30, drawn: 0 };
  view.tabIndex = 0;
  view.setAttribute("role", "grid");
  view.setAttribute("aria-label", "Every draw. Arrow keys move, Enter opens a draw, Escape closes it.");
  view.setAttribute("aria-colcount", columns + 1);
  view.style.setProperty("--k", data.draws);
  view.style.setProperty("--n", columns);
  head.setAttribute("role", "row");
  for (const name of ["item", ...data.arms]) {
    const cell = make("div", name === "item" ? "id" : "draws named", name);
    cell.setAttribute("role", "columnheader");
    head.append(cell);
  }
  view.append(head, space);

  const makeRow = () => {
    const row = make("div", "row");
    const id = make("div", "id");
    const name = make("bdi");
    const kind = make("span", "kind");
    const same = make("span", "kind", "unchanged");
    row.setAttribute("role", "row");
    id.setAttribute("role", "rowheader");
    id.append(name, kind, same);
    row.append(id);
    const cells = [];
    for (const arm of data.arms.keys()) {
      const strip = make("div", "draws");
      strip.setAttribute("role", "presentation");
      for (let draw = 0; draw < data.draws; draw += 1) {
        const cell = make("div", "d");
        cell.setAttribute("role", "gridcell");
        cell.setAttribute("aria-colindex", arm * data.draws + draw + 2);
        cell.dataset.column = arm * data.draws + draw;
        strip.append(cell);
        cells.push(cell);
      }
      row.append(strip);
    }
    const why = make("div", "why");
    why.setAttribute("role", "presentation");
    row.append(why);
    space.append(row);
    return { row, name, kind, same, cells, letters: [], why, place: -1 };
  };

  // Each column's label for each letter, so that a row in motion builds no text.
  const labels = [...Array(columns).keys()].map((column) => {
    const place = `${data.arms[(column / data.draws) | 0]}, draw ${column % data.draws}: `;
    return Object.fromEntries(Object.entries(WORDS).map(([letter, words]) => [letter, place + words]));
  });

  const fill = (slot, place) => {
    const item = state.items[place];
    slot.place = place;
    slot.row.hidden = false;
    slot.row.dataset.place = place;
    slot.row.classList.toggle("odd", place % 2 === 1);
    slot.row.setAttribute("aria-rowindex", place + 2);
    slot.row.style.top = `${place * state.height}px`;
    slot.name.textContent = visible(data.ids[item]) || "–";
    slot.name.title = slot.name.textContent;
    slot.why.textContent = whyOf(item);
    fillKinds(slot, item);
    fillCells(slot, item);
    if (state.active && state.active.slot === slot) unmark();
    if (place === state.row) markActive(slot);
  };

  const fillKinds = (slot, item) => {
    const kinds = data.kinds[item] || 0;
    slot.kind.hidden = !kinds;
    if (kinds) {
      const first = 31 - Math.clz32(kinds & -kinds);
      slot.kind.textContent = KINDS[first];
      slot.kind.className = `kind ${first > 2 ? "good" : "bad"}`;
    }
    slot.same.hidden = !data.unchangedSet.has(item);
  };

  const fillCells = (slot, item) => {
    for (let arm = 0, column = 0; arm < data.arms.length; arm += 1) {
      const letters = data.sides[arm].letters;
      for (let cell = item * data.draws; cell < (item + 1) * data.draws; cell += 1, column += 1) {
        const letter = letters[cell];
        if (slot.letters[column] === letter) continue;
        slot.letters[column] = letter;
        slot.cells[column].className = `d m-${letter}`;
        slot.cells[column].setAttribute("aria-label", labels[column][letter]);
      }
    }
  };

  // The draw that the keys act on, and whether it is open.
  const unmark = () => {
    if (!state.active) return;
    const cell = state.active.slot.cells[state.active.column];
    cell.classList.remove("active", "open");
    cell.removeAttribute("id");
    state.active = null;
  };
  const markActive = (slot) => {
    unmark();
    const cell = slot.cells[state.column];
    cell.id = "active-draw";
    cell.classList.add("active");
    cell.classList.toggle("open", state.opened === state.items[state.row]);
    state.active = { slot, column: state.column };
  };

  // The reason of the first draw that is no pass, the treatment's before the control's.
  const whyOf = (item) => {
    if (!data.detailed) return "";
    for (let arm = data.arms.length - 1; arm >= 0; arm -= 1) {
      for (let cell = item * data.draws; cell < (item + 1) * data.draws; cell += 1) {
        const side = data.sides[arm];
        if (!"p.".includes(side.letters[cell])) return visible(data.reasons[side.reason[cell]]).slice(0, 200);
      }
    }
    return "";
  };

  const render = () => {
    state.drawn = 0;
    const first = Math.max(0, Math.floor(view.scrollTop / state.height) - 6);
    const size = Math.ceil(view.clientHeight / state.height) + 12;
    while (state.pool.length < Math.min(size, state.items.length)) state.pool.push(makeRow());
    const last = Math.min(first + state.pool.length, state.items.length);
    for (let place = first; place < last; place += 1) {
      const slot = state.pool[place % state.pool.length];
      if (slot.place !== place) fill(slot, place);
    }
  };
  const later = () => { if (!state.drawn) state.drawn = requestAnimationFrame(render); };

  // After the active draw has moved: rows that are right stay as they are.
  const again = () => {
    render();
    unmark();
    const slot = state.pool.find((one) => one.place === state.row);
    if (slot) markActive(slot);
    view.setAttribute("aria-activedescendant", state.items.length ? "active-draw" : "");
  };

  const measure = () => {
    state.height = parseFloat(getComputedStyle(view).getPropertyValue("--row")) || 30;
    space.style.height = `${state.items.length * state.height}px`;
    view.style.setProperty("--tall", `${state.items.length * state.height + head.offsetHeight + 18}px`);
    for (const slot of state.pool) slot.place = -1;
    again();
  };

  // The active row within the part of the list that is in view.
  const follow = () => {
    const top = state.row * state.height;
    const room = view.clientHeight - head.offsetHeight - state.height;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top > view.scrollTop + room) view.scrollTop = top - room;
    again();
  };

  const show = (items) => {
    state.items = items.slice(0, MOST_ROWS);
    state.row = 0;
    view.scrollTop = 0;
    view.setAttribute("aria-rowcount", items.length + 1);
    unmark();
    for (const slot of state.pool) slot.row.remove();
    state.pool = [];
    measure();
  };

  const move = (row, column) => {
    state.row = Math.max(0, Math.min(row, state.items.length - 1));
    state.column = Math.max(0, Math.min(column, columns - 1));
    if (state.opened === null) follow(); else open();
    const cell = document.getElementById("active-draw");
    if (cell) cell.scrollIntoView({ block: "nearest", inline: "nearest" });
  };

  const open = () => {
    if (!state.items.length) return;
    state.opened = state.items[state.row];
    onOpen(state.opened, (state.column / data.draws) | 0, state.column % data.draws);
    follow();
  };
  const close = () => { state.opened = null; again(); };

  const keys = {
    ArrowUp: () => move(state.row - 1, state.column),
    ArrowDown: () => move(state.row + 1, state.column),
    ArrowLeft: () => move(state.row, state.column - 1),
    ArrowRight: () => move(state.row, state.column + 1),
    PageUp: () => move(state.row - Math.floor(view.clientHeight / state.height), state.column),
    PageDown: () => move(state.row + Math.floor(view.clientHeight / state.height), state.column),
    Home: (event) => move(event.ctrlKey ? 0 : state.row, 0),
    End: (event) => move(event.ctrlKey ? state.items.length - 1 : state.row, columns - 1),
    Enter: open,
    " ": open,
  };
  view.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.altKey || event.metaKey) return;
    event.preventDefault();
    keys[event.key](event);
  });
  view.addEventListener("click", (event) => {
    const row = event.target.closest(".row");
    if (!row) return;
    const cell = event.target.closest(".d");
    state.row = Number(row.dataset.place);
    state.column = cell ? Number(cell.dataset.column) : (data.arms.length - 1) * data.draws;
    open();
  });
  view.addEventListener("scroll", later, { passive: true });
  addEventListener("resize", measure);

  const reveal = (item) => {
    const place = state.items.indexOf(item);
    if (place < 0) return false;
    state.opened = item;
    move(place, (data.arms.length - 1) * data.draws);
    return true;
  };
  return { view, show, close, reveal };
};
