/** Exit codes of commands that check what is stored. */
export const EXIT = { intact: 0, broken: 1, notChecked: 2, unreachable: 3 } as const;
