/*
 * Sortable lists: drag a handle with mouse, pen or finger, or use the arrow keys on it. The others
 * move around the dragged item, which stays in the page so that its handle keeps the pointer.
 */

const DRAG_THRESHOLD = 5; // pixels the pointer moves before a press becomes a drag
const SCROLL_EDGE = 80; // pixels from the edge of the window where it scrolls
const SPEED = 12;

/**
 * Make a list sortable. `move(from, to)` is called once, with the places in the list.
 * @param {HTMLElement} list
 * @param {(from: number, to: number) => void} move
 */
export function sortable(list, move) {
  const items = () => [...list.children];
  /** @param {Event} event */
  const mine = (event) => {
    /** @type {HTMLElement | null} */
    const handle = /** @type {Element} */ (event.target).closest?.(".handle");
    /** @type {HTMLElement | null | undefined} */
    const item = handle?.closest("[data-item]");
    return handle && item?.parentNode === list ? { handle, item } : null;
  };

  list.addEventListener("keydown", (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const found = by && mine(event);
    if (!found) return;
    event.preventDefault();
    const from = items().indexOf(found.item);
    move(from, Math.min(Math.max(from + by, 0), items().length - 1));
  });

  list.addEventListener("pointerdown", (event) => {
    const found = mine(event);
    if (!found || event.button) return;
    const { handle, item } = found;
    const from = items().indexOf(item);
    const grip = event.clientY - item.getBoundingClientRect().top;
    const start = event.clientY;
    let y = start;
    let dragged = false;
    let shift = 0;
    let frame = 0;
    handle.setPointerCapture(event.pointerId);

    const place = () => {
      /** @param {Element} other */
      const middle = (other) => {
        const box = other.getBoundingClientRect();
        return box.top + box.height / 2;
      };
      let other;
      while ((other = item.previousElementSibling) && y < middle(other)) item.after(other);
      while ((other = item.nextElementSibling) && y > middle(other)) item.before(other);
      shift += y - grip - item.getBoundingClientRect().top;
      item.style.transform = `translateY(${shift}px)`;
    };
    const scroll = () => {
      const by = y < SCROLL_EDGE ? -SPEED : y > innerHeight - SCROLL_EDGE ? SPEED : 0;
      if (by) {
        scrollBy(0, by);
        place();
      }
      frame = requestAnimationFrame(scroll);
    };
    /** @param {PointerEvent} event */
    const moved = (event) => {
      y = event.clientY;
      if (!dragged && Math.abs(y - start) < DRAG_THRESHOLD) return;
      if (!dragged) {
        dragged = true;
        item.classList.add("dragged");
        frame = requestAnimationFrame(scroll);
      }
      place();
    };
    /** @param {boolean} keep */
    const end = (keep) => {
      cancelAnimationFrame(frame);
      removeEventListener("keydown", onEscape, true);
      for (const [name, listener] of listeners) handle.removeEventListener(name, listener);
      item.classList.remove("dragged");
      item.style.transform = "";
      if (!dragged) return;
      handle.addEventListener("click", swallow, { capture: true, once: true });
      setTimeout(() => handle.removeEventListener("click", swallow, { capture: true }));
      move(from, keep ? items().indexOf(item) : from);
    };
    /** @param {Event} event */
    const swallow = (event) => event.stopPropagation();
    /** @param {KeyboardEvent} event */
    const onEscape = (event) => {
      if (event.key === "Escape") end(false);
    };
    /** @type {[string, (event: any) => void][]} */
    const listeners = [
      ["pointermove", moved],
      ["pointerup", () => end(true)],
      ["pointercancel", () => end(false)],
    ];
    for (const [name, listener] of listeners) handle.addEventListener(name, listener);
    addEventListener("keydown", onEscape, true);
  });
}
