import { z } from 'zod';
import { renderSchemaError } from '../../json/field-fault.ts';
import { parseBase64url } from '../../json/base64.ts';

/** A secret that both signs and verifies, as a JSON Web Key. Its holder can make links. */
interface SecretLinkKey {
  /** A secret. */
  kty: 'oct';
  /** The key's id, which each link names: never used again for another key. */
  kid: string;
  /** The only algorithm that is accepted with this key. */
  alg: 'HS256';
  /** At least 32 random bytes, as base64url. */
  k: string;
}

/** A key pair as a JSON Web Key: where links are served, the public half is enough. */
interface PairLinkKey {
  /** A pair. */
  kty: 'OKP';
  /** Its curve. */
  crv: 'Ed25519';
  /** The key's id, which each link names: never used again for another key. */
  kid: string;
  /** The only algorithm that is accepted with this key. */
  alg: 'EdDSA';
  /** The public half, as base64url. */
  x: string;
  /** The private half, as base64url. Without it, the key verifies links and makes none. */
  d?: string | undefined;
}

/** A key for links, as a JSON Web Key with its id and its algorithm: a secret, or a pair. */
export type LinkKey = SecretLinkKey | PairLinkKey;

const shortestSecret = 32;
const kid = z.string().min(1).max(100);
const bytes = (least: number, most = Infinity) =>
  z.string().refine(
    (text) => {
      const { length = 0 } = parseBase64url(text) ?? {};
      return length >= least && length <= most;
    },
    `must be ${most === Infinity ? `at least ${least}` : least} bytes, as base64url`,
  );

const keysSchema: z.ZodType<LinkKey[]> = z
  .array(
    z.discriminatedUnion('kty', [
      z.object({
        kty: z.literal('oct'),
        kid,
        alg: z.literal('HS256'),
        k: bytes(shortestSecret),
      }),
      z.object({
        kty: z.literal('OKP'),
        crv: z.literal('Ed25519'),
        kid,
        alg: z.literal('EdDSA'),
        x: bytes(32, 32),
        d: bytes(32, 32).optional(),
      }),
    ]),
  )
  .min(1);

/** The keys of links. */
export interface LinkKeys {
  /** The key that makes links: the first that can. */
  signing: LinkKey | undefined;
  /** The public half, or the secret, of each key by its id. */
  verifying: ReadonlyMap<string, LinkKey>;
}

/** Checks keys. Throws a `TypeError`, which repeats nothing of a key, for one that is not valid, and for two with the same id. */
export function parseLinkKeys(given: unknown): LinkKeys {
  const { data, error } = keysSchema.safeParse(given);
  if (data === undefined) {
    throw new TypeError(
      `createLinks needs keys, as JSON Web Keys with kid and alg (HS256 or EdDSA): ${renderSchemaError(error)}`,
    );
  }
  const verifying = new Map(data.map((key) => [key.kid, omitPrivate(key)]));
  if (verifying.size < data.length) throw new TypeError('Two keys of createLinks have one kid.');
  return { signing: data.find(canSign), verifying };
}

function canSign(key: LinkKey): boolean {
  return key.kty === 'oct' || key.d !== undefined;
}

function omitPrivate(key: LinkKey): LinkKey {
  if (key.kty === 'oct') return key;
  const { d: _private, ...publicHalf } = key;
  return publicHalf;
}
