/** The forms of a counted noun; `#` stands for the number. Arabic has six, English two. */
export interface Forms {
  readonly zero?: string;
  readonly one?: string;
  readonly two?: string;
  readonly few?: string;
  readonly many?: string;
  readonly other: string;
}

/** Says how many there are in one language: `counting('en')({ one: '# tow', other: '# tows' })(3)` is `3 tows`. */
export function counting(language: 'en' | 'ar'): (forms: Forms) => (count: number) => string {
  const rules = new Intl.PluralRules(language);
  const digits = new Intl.NumberFormat(language === 'ar' ? 'ar-SA-u-nu-latn' : 'en');
  return (forms) => (count) => (forms[rules.select(count)] ?? forms.other).replace('#', digits.format(count));
}
