/**
 * How many of those that a list holds now are not shown but stand between those that are. Behind the last of these stand
 * those of the next page that moved up because others left: nobody waits for them here. Of a page that was the last there
 * were none, so that whatever is not shown came since.
 */
export function newAmong(
  listed: readonly string[],
  { shown, isLast }: { shown: readonly string[]; isLast: boolean },
): number {
  const isShown = new Set(shown);
  const end = listed.findLastIndex((name) => isShown.has(name));
  const stretch = isLast || end === -1 ? listed : listed.slice(0, end);
  return stretch.filter((name) => !isShown.has(name)).length;
}
