// @ts-check
/** Shows the photos that somebody has chosen, before they are sent. */
export function previewPhotos() {
  document.addEventListener('change', (event) => {
    const { target } = event;
    if (!(target instanceof HTMLInputElement) || target.dataset['preview'] === undefined) return;
    const list = document.getElementById(target.dataset['preview']);
    if (!list) return;
    for (const image of list.querySelectorAll('img')) URL.revokeObjectURL(image.src);
    const items = [...(target.files ?? [])].map(itemOf);
    list.replaceChildren(...items);
    list.hidden = items.length === 0;
  });
}

/** @param {File} file */
function itemOf(file) {
  const item = document.createElement('li');
  const image = document.createElement('img');
  image.src = URL.createObjectURL(file);
  image.alt = file.name;
  image.width = 96;
  image.height = 96;
  item.append(image);
  return item;
}
