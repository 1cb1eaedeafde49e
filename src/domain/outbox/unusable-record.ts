/** This process cannot use a stored record. It is left as it is, and its work waits for a process that can. */
export class UnusableRecord extends Error {}

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
