/** A web or mail address in its parts, so that the host can be set apart. */
export interface WebAddress {
  /** The address that a browser opens; absent if this page doesn't open it. */
  href?: string;
  before: string;
  host: string;
  after: string;
  /** The host in its non-ASCII letters, if it has any. */
  unicodeHost?: string;
}

const opened = ['http:', 'https:', 'mailto:'];

/** Splits an address, which may be relative to a page's, into its parts; without a host, if none can be set apart. */
export function readAddress(url: string, base?: string): WebAddress {
  const plain = { before: url, host: '', after: '' };
  if (!URL.canParse(url, base)) return plain;
  const { protocol, hostname, href } = new URL(url, base);
  if (!opened.includes(protocol)) return plain;
  /* In a mail address, everything between the last `@` and the question mark. */
  const host = protocol === 'mailto:' ? (/@([^@?,]+)(?=$|\?)/.exec(href)?.[1] ?? '') : hostname;
  const unicode = decodeHost(host);
  const other = unicode === host ? {} : { unicodeHost: unicode };
  const place = findHost(href, host, protocol);
  if (place < 0) return { ...plain, href, ...other };
  return {
    href,
    before: href.slice(0, place),
    host,
    after: href.slice(place + host.length),
    ...other,
  };
}

/* A user's name before the host may look like one. */
function findHost(href: string, host: string, protocol: string): number {
  if (host === '') return -1;
  if (protocol === 'mailto:') return href.indexOf(`@${host}`) + 1;
  const start = href.indexOf('//') + 2;
  const end = href.slice(start).search(/[/?#]/);
  const authority = end === -1 ? href.slice(start) : href.slice(start, start + end);
  return start + authority.lastIndexOf('@') + 1;
}

/** Decodes the labels of a host to their letters. */
function decodeHost(host: string): string {
  return host
    .split('.')
    .map((label) => {
      const coded = /^xn--(.+)$/i.exec(label)?.[1];
      return coded === undefined ? label : (decodePunycode(coded.toLowerCase()) ?? label);
    })
    .join('.');
}

/* Browsers only encode; see RFC 3492, which has these numbers. */
const base = 36;
const [lowest, highest, skew, damp] = [1, 26, 38, 700];

function decodePunycode(coded: string): string | undefined {
  const split = coded.lastIndexOf('-');
  const points = Array.from(coded.slice(0, Math.max(split, 0)), (each) => each.charCodeAt(0));
  let [point, index, bias] = [128, 0, 72];
  let place = split + 1;
  while (place < coded.length) {
    const before = index;
    let weight = 1;
    for (let step = base; ; step += base) {
      const digit = readDigit(coded.charAt(place));
      if (digit === undefined) return undefined;
      place += 1;
      index += digit * weight;
      const threshold = Math.min(Math.max(step - bias, lowest), highest);
      if (digit < threshold) break;
      weight *= base - threshold;
    }
    const count = points.length + 1;
    bias = adaptBias(index - before, count, before === 0);
    point += Math.floor(index / count);
    index %= count;
    if (point > 0x10_ffff) return undefined;
    points.splice(index, 0, point);
    index += 1;
  }
  return String.fromCodePoint(...points);
}

function readDigit(character: string): number | undefined {
  if (/^[a-z]$/.test(character)) return character.charCodeAt(0) - 97;
  return /^\d$/.test(character) ? Number(character) + 26 : undefined;
}

function adaptBias(distance: number, count: number, isFirst: boolean): number {
  let delta = Math.floor(distance / (isFirst ? damp : 2));
  delta += Math.floor(delta / count);
  let steps = 0;
  while (delta > ((base - lowest) * highest) / 2) {
    delta = Math.floor(delta / (base - lowest));
    steps += base;
  }
  return steps + Math.floor(((base - lowest + 1) * delta) / (delta + skew));
}
