/** How the command ends, for scripts that call it. */
export const EXIT = {
  done: 0,
  /** towhook understood and said no: an unknown thing, a state or a role that does not allow it, a field it refuses. */
  refused: 1,
  /** The command itself is wrong: an unknown option, a value that breaks its rule, a setting of the environment. */
  wrongUse: 2,
  /** No answer, or one that says to come back later; or what answered is no towhook of this version. */
  unavailable: 3,
  /** No API key, or one that is not valid. */
  notAuthenticated: 4,
  /** `towhook doctor` found faults. */
  faultsFound: 5,
} as const;

export const EXIT_CODES_TEXT = `Exit codes:
  0  done
  1  refused by towhook: an unknown thing, or a state, a role or a field that does not allow it
  2  wrong use: an unknown option, a value that breaks its rule, a wrong setting in the environment
  3  towhook cannot be reached, or says to come back later
  4  no API key, or one that is not valid
  5  towhook doctor found faults`;
