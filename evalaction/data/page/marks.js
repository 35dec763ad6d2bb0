// Elements with text, and the words for what a draw did.
const make = (tag, classes, text) => {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  if (text !== undefined) element.textContent = text;
  return element;
};

// Control, format, private and half characters and line separators are shown, never obeyed.
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Zl}\p{Zp}]/gu;
const visible = (text) => text.replace(/\r\n?/g, "\n").replace(UNSEEN, "\ufffd");

const WORDS = {
  p: "pass", k: "check failed", c: "contract broken", u: "not reached", e: "checker error", ".": "not drawn",
};
const KINDS = ["lost", "broke", "flip", "gained", "steadied"];
const FLAGS = [
  ...KINDS.map((name, bit) => ({ name, bit: 1 << bit })),
  { name: "check", bit: 32, letter: "k" },
  { name: "contract", bit: 64, letter: "c" },
  { name: "unreached", bit: 128, letter: "u" },
  { name: "checker error", bit: 256, letter: "e" },
  { name: "not drawn", bit: 512, letter: "." },
  { name: "unchanged", bit: 1024 },
  { name: "route changed", bit: 2048 },
];
const mark = (letter) => make("i", `m m-${letter}`);
const count = (number) => number.toLocaleString("en-US");
