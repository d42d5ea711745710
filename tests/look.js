// What an opened page shows: its texts outside of code and formulas, what does not fit, what is pale.
() => {
  const texts = [], wide = new Set(), pale = new Set();
  const width = document.documentElement.clientWidth;
  const code = "code, pre, kbd, samp, math, script, style, textarea, option, .sig, .headerlink";
  const named = (one) => {
    const words = one.textContent.replace(/\s+/g, " ").trim().slice(0, 50);
    const kind = typeof one.className === "string" && one.className ? "." + one.className.split(" ")[0] : "";
    return `<${one.tagName.toLowerCase()}${kind}> "${words}"`;
  };

  // Colours as the style computes them, laid over one another.
  const parts = (colour) => {
    const numbers = (colour.match(/-?[\d.]+(e-?\d+)?%?/g) || []).map(parseFloat);
    const [r, g, b, a = 1] = numbers;
    return colour.startsWith("color(") ? [255 * r, 255 * g, 255 * b, a] : [r, g, b, a];
  };
  const over = (top, below) => [0, 1, 2].map((k) => top[3] * top[k] + (1 - top[3]) * below[k]).concat(1);
  const backs = new Map();
  const back = (one) => {
    if (!one) return parts(getComputedStyle(document.documentElement).colorScheme.includes("dark") ? "rgb(0,0,0)" : "rgb(255,255,255)");
    if (!backs.has(one)) {
      const colour = parts(getComputedStyle(one).backgroundColor);
      backs.set(one, colour[3] === 1 ? colour : over(colour, back(one.parentElement)));
    }
    return backs.get(one);
  };
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };

  // Whether something beyond the screen can be scrolled to in a box that fits, or waits in a drawer.
  const boxed = (one) => {
    for (let box = one; box && box !== document.body; box = box.parentElement) {
      const { overflowX: flow, position } = getComputedStyle(box);
      if (position === "fixed") return true;
      if ((flow === "auto" || flow === "scroll") && box.getBoundingClientRect().right <= width + 1) return true;
    }
    return false;
  };
  const unseen = (one) => !one.checkVisibility({ visibilityProperty: true, opacityProperty: true });

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), judged = new Set();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const one = node.parentElement;
    if (!node.data.trim() || unseen(one)) continue;
    const style = getComputedStyle(one), range = document.createRange();
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width < 2 || box.height < 2 || style.clip === "rect(0px, 0px, 0px, 0px)") continue;
    if (!one.closest(code)) texts.push(node.data);
    if (box.right > width + 1 && box.left < width + 4000 && !boxed(one)) wide.add(`beyond the edge: ${named(one)}`);
    if (judged.has(one)) continue;
    judged.add(one);
    for (let outer = one; outer && outer !== document.body; outer = outer.parentElement) {
      const { overflowX, overflowY, textOverflow } = getComputedStyle(outer), around = outer.getBoundingClientRect();
      const cut = (overflowX === "hidden" || overflowX === "clip") && box.right > around.right + 2 && textOverflow !== "ellipsis";
      if (cut || ((overflowY === "hidden" || overflowY === "clip") && box.bottom > around.bottom + 4 && outer.scrollHeight > outer.clientHeight + 4))
        wide.add(`cut off: ${named(one)}`);
    }
    const drawn = one instanceof SVGElement;
    if (drawn && style.fill === "none") continue;
    const ground = back(one), ink = over(parts(drawn ? style.fill : style.color), ground);
    const [a, b] = [light(ink), light(ground)];
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize), large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (contrast < (large ? 3 : 4.5)) pale.add(`contrast ${contrast.toFixed(1)}: ${named(one)}`);
  }
  const scrolled = document.documentElement.scrollWidth;
  if (scrolled > width) {
    wide.add(`the page scrolls sideways, ${scrolled} px`);
    for (const one of document.body.querySelectorAll("*"))
      if (one.getBoundingClientRect().right > width + 1 && !unseen(one) && !boxed(one) && !one.closest("svg *")) wide.add(`wide: ${named(one)}`);
  }
  return { texts, wide: [...wide].slice(0, 12), pale: [...pale].slice(0, 12) };
}
