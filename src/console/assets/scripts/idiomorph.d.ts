/** The library as htmx's extension `morph` uses it; its script stands before ours in every page. */
declare const Idiomorph: {
  readonly defaults: { readonly callbacks: Record<string, (first: unknown, second: unknown) => boolean> };
};
