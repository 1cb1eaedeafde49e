/**
 * The field of a stored record that a later version of towhook marks with the oldest schema whose processes can use the
 * record, when it holds something that older ones do not know, such as a new state. Absent: every version can.
 */
export const OLDEST_READER_FIELD = 'oldest_reader';

/** This process cannot use a stored record. It is left as it is, and its work waits for a process that can. */
export class UnusableRecord extends Error {}

/** A stored record needs a later version of towhook. */
export class NewerRecord extends UnusableRecord {
  override readonly name = 'NewerRecord';

  constructor(oldestReader: number, known: number) {
    super(`the record needs a process of schema ${oldestReader} or later, and this one has schema ${known}`);
  }
}

/** A stored record cannot be decoded. It is left as it is, and the conservation check names it. */
export class DamagedRecord extends Error {
  override readonly name = 'DamagedRecord';

  constructor(
    message: string,
    readonly recordId: string,
  ) {
    super(message);
  }
}
