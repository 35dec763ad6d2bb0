// What one draw said, beside the same draw of the other arm.
const HEAD = 240; // what is kept of an error, of a broken contract, and of every text where a card says so

const makePanel = (data, onClose) => {
  const side = make("section", "side");
  const title = make("h3");
  const body = make("div", "both");
  const shut = make("button", "", "Close");
  const header = make("header");
  side.hidden = true;
  side.setAttribute("aria-label", "One draw");
  title.setAttribute("aria-live", "polite");
  shut.type = "button";
  header.append(title, shut);
  side.append(header, body);

  const facts = (pairs) => {
    const list = make("dl");
    for (const [name, value] of pairs) {
      if (value !== "" && value !== undefined) list.append(make("dt", "", name), make("dd", "", value));
    }
    return list;
  };

  const REASONS = { k: "checker’s reason", c: "contract error", u: "why not", e: "checker error", p: "checker’s reason" };

  const route = (arm, item) => (data.routed[arm] ? visible(data.routed[arm](item)) || "default" : "");

  const detail = (arm, cell, letter) => {
    const held = data.sides[arm];
    if (!data.detailed || letter === ".") return [["route", route(arm, (cell / data.draws) | 0)]];
    const tokens = (values) => (values[cell] ? count(values[cell] - 1) : "");
    return [
      [REASONS[letter], visible(data.reasons[held.reason[cell]])],
      ["latency", `${count(held.ms[cell])} ms`],
      ["tokens in", tokens(held.in)],
      ["tokens out", tokens(held.out)],
      ["finish reason", visible(data.finishes[held.finish[cell]])],
      ["status", held.status[cell] ? String(held.status[cell]) : ""],
      ["endpoint", visible(data.endpoints[held.endpoint[cell]])],
      ["route", route(arm, (cell / data.draws) | 0)],
      ["behind it", visible(data.behinds[held.behind[cell]])],
    ];
  };

  const columns = (letter) => {
    const yes = "met", no = "not met", none = "–";
    return {
      p: [["reach", yes], ["contract", yes], ["check", yes]],
      k: [["reach", yes], ["contract", yes], ["check", no]],
      c: [["reach", yes], ["contract", no], ["check", none]],
      u: [["reach", no], ["contract", none], ["check", none]],
      e: [["reach", yes], ["contract", yes], ["check", none]],
      ".": [],
    }[letter];
  };

  const text = (arm, cell, letter) => {
    const key = arm * data.ids.length * data.draws + cell;
    const whole = data.whole[key];
    const head = data.heads[key];
    if (whole === undefined && head === undefined) {
      return [make("p", "quiet", letter === "." ? "This draw is not there." : "Its text is not in this page.")];
    }
    const label = letter === "u" ? "What came instead" : "Text of the reply";
    const box = make("pre", "", visible(whole === undefined ? head : whole));
    box.tabIndex = 0;
    box.setAttribute("aria-label", label);
    const cut = whole !== undefined && whole.length === HEAD ? `, perhaps cut at ${HEAD} characters` : "";
    const note = whole === undefined ? ", its beginning" : cut;
    return [make("p", "quiet", label + note), box];
  };

  const one = (item, arm, draw, asked) => {
    const cell = item * data.draws + draw;
    const letter = data.sides[arm].letters[cell];
    const box = make("div", asked ? "one asked" : "one");
    const said = make("p", "said");
    said.append(mark(letter), document.createTextNode(`${data.arms[arm]}, draw ${draw}: ${WORDS[letter]}`));
    box.append(said, facts([...columns(letter), ...detail(arm, cell, letter)]), ...text(arm, cell, letter));
    return box;
  };

  const open = (item, arm, draw) => {
    const name = make("bdi", "", visible(data.ids[item]) || "–");
    const letter = data.sides[arm].letters[item * data.draws + draw];
    title.replaceChildren(name, document.createTextNode(` · ${data.arms[arm]}, draw ${draw}: ${WORDS[letter]}`));
    body.replaceChildren(...data.arms.map((_, number) => one(item, number, draw, number === arm)));
    const first = side.hidden;
    side.hidden = false;
    if (first) side.parentElement.querySelector(".view").scrollIntoView({ block: "start" });
  };
  const hide = () => { side.hidden = true; };
  const close = () => {
    if (side.hidden) return;
    hide();
    onClose();
  };
  shut.addEventListener("click", close);
  return { side, open, close, hide };
};
