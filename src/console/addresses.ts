/** What an address of ours says behind its `?`, whatever else is wrong with it. */
export function saidIn(address: string): URLSearchParams {
  const [whole = ''] = address.split('#', 1);
  const mark = whole.indexOf('?');
  return new URLSearchParams(mark === -1 ? '' : whole.slice(mark));
}

/** The same of an address that leads to this page; nothing of any other. */
export function saidTo(path: string, address: string): URLSearchParams {
  const [own = ''] = address.split(/[?#]/, 1);
  return own === path ? saidIn(address) : new URLSearchParams();
}
