/** Exit codes of commands that check what is stored. */
export const CHECK_EXIT = { intact: 0, broken: 1, notChecked: 2, unreachable: 3 } as const;
