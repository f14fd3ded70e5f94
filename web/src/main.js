// Reads the data and mounts the parts of the page.
import { unpack } from "./data.js";

async function main() {
  const element = /** @type {HTMLElement} */ (document.getElementById("data"));
  const run = await unpack(element.textContent ?? "");
  element.remove();
  document.title = run.facts.run.name;
  const text = document.createElement("p");
  text.textContent = `${run.tasks.count} tasks, ${run.processes.count} processes`;
  document.getElementById("page")?.append(text);
}

main();
