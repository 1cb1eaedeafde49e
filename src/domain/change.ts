/**
 * Sets fields of an object in place. The compiler checks names and values; `Object.assign` accepts any, so the rules do
 * not call it.
 */
export function change<T extends object>(target: T, fields: NoInfer<Partial<T>>): void {
  Object.assign(target, fields);
}
