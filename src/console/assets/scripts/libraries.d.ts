/// <reference types="uplot" />
// Both libraries define a global: uPlot as `uPlot`, and idiomorph for the htmx extension `morph`.

declare const Idiomorph: {
  readonly defaults: { readonly callbacks: Record<string, (first: unknown, second: unknown) => boolean> };
};
