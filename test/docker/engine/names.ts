import { createSocket } from 'node:dgram';
import { connect, createServer } from 'node:net';

/** The name server and the published ports of the containers. */

const HEADER_BYTES = 12;
const FOUND = 0x8180;
const NO_SUCH_NAME = 0x8183;

/** Answers questions for addresses on UDP port 53. `addressesOf` returns an empty list for an unknown name. */
export function serveNames(
  host: string,
  { addressesOf, onReady }: { addressesOf: (name: string) => readonly string[]; onReady: () => void },
): void {
  const socket = createSocket('udp4');
  socket.on('message', (query, from) => {
    const { name, end, isAddress } = questionIn(query);
    const addresses = addressesOf(name);
    const answers = isAddress ? addresses : [];
    const header = Buffer.alloc(HEADER_BYTES);
    query.copy(header, 0, 0, 2);
    header.writeUInt16BE(addresses.length === 0 ? NO_SUCH_NAME : FOUND, 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(answers.length, 6);
    // Type A, class IN, valid for a second, four bytes; the name is that of the question.
    const records = answers.map((address) =>
      Buffer.from([0xc0, 0x0c, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address.split('.').map(Number)]),
    );
    socket.send(Buffer.concat([header, query.subarray(HEADER_BYTES, end), ...records]), from.port, from.address);
  });
  socket.bind(53, host, onReady);
}

function questionIn(query: Buffer): { name: string; end: number; isAddress: boolean } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.'), end: at + 5, isAddress: query.readUInt16BE(at + 1) === 1 };
}

/** Passes connections to a port on to a container. `target` is null while no container runs. */
export function publishPort(
  { host, port }: { host: string; port: number },
  target: () => { host: string; port: number } | null,
): void {
  createServer((client) => {
    const to = target();
    if (to === null) {
      client.destroy();
      return;
    }
    const server = connect(to.port, to.host);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  }).listen(port, host);
}
