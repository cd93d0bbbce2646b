import { type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { z } from 'zod';
import { parseBase64url } from '../../json/base64.ts';
import { hashText } from '../../content/crypto.ts';
import type { LinkKeys } from './link-keys.ts';

/** The claims of a link: its person, its request as it was shown, and its expiry. */
export interface LinkClaims {
  threadId: string;
  requestId: string;
  /** Of what was shown. */
  digest: string;
  /** The person, as JSON. */
  principal: unknown;
  /** In seconds since 1970, as in every JSON Web Token. */
  iat: number;
  exp: number;
}

const claimsSchema = z.strictObject({
  aud: z.string(),
  threadId: z.string(),
  requestId: z.string(),
  digest: z.string(),
  principal: z.unknown().refine((principal) => principal !== undefined && principal !== null),
  iat: z.number(),
  exp: z.number(),
});

/* A type of its own: tokens that an app signs with the same key for other purposes are not links. */
const typ = 'holdpoint-link+jwt';
/* Servers cut off longer addresses, and mail programs break them. */
const longestToken = 4_096;
/* The tolerated lead of the clock of the process that made a link. */
const clockSkewSeconds = 60;

/** Signs links, and verifies them. */
export interface LinkTokens {
  /** The address under which links are served: links for another one are refused. */
  audience: string;
  keys: LinkKeys;
  /** The maximum lifetime of a link. */
  expiresInMs: number;
  now: () => number;
}

/** The token of a link. Throws a `TypeError` without a key that can sign, and for a principal that is too long. */
export async function signLink(
  { audience, keys: { signing } }: Pick<LinkTokens, 'audience' | 'keys'>,
  { principal, ...claims }: LinkClaims,
): Promise<string> {
  if (signing === undefined) {
    throw new TypeError('No key of createLinks can make links: all of them are public halves.');
  }
  const payload: JWTPayload = { aud: audience, ...claims, principal };
  const { alg, kid } = signing;
  const token = await new SignJWT(payload).setProtectedHeader({ alg, kid, typ }).sign(signing);
  if (token.length <= longestToken) return token;
  throw new TypeError(
    `The link would have ${token.length} characters, more than ${longestToken}: give it a principal that is only an id.`,
  );
}

/** Reads the claims of a token. `undefined` for an invalid or expired link, without the reason, which would help an attacker. */
export async function verifyLink(
  { audience, keys: { verifying }, expiresInMs, now }: LinkTokens,
  token: string,
): Promise<LinkClaims | undefined> {
  if (token.length > longestToken || !isCanonical(token)) return undefined;
  const at = now();
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid = '', alg }) => {
        const key = verifying.get(kid);
        if (key === undefined || key.alg !== alg) throw new TypeError('There is no such key.');
        return key;
      },
      { algorithms: ['HS256', 'EdDSA'], audience, typ, currentDate: new Date(at) },
    );
    const { aud: _ours, ...claims } = claimsSchema.parse(payload);
    const isFromFuture = claims.iat > at / 1_000 + clockSkewSeconds;
    const isTooLong = claims.exp - claims.iat > expiresInMs / 1_000;
    return isFromFuture || isTooLong ? undefined : { ...claims, principal: claims.principal };
  } catch {
    return undefined;
  }
}

/* Decoders ignore some bits of the last character, so other spellings are refused. */
function isCanonical(token: string): boolean {
  return token.split('.').every((part) => parseBase64url(part) !== undefined);
}

/**
 * Makes the code that proves that a form is the page's own. It is derived from the token, so nothing is stored, and doesn't reveal it. Each
 * step of the page has its own code, so that none can be skipped.
 */
export async function makeFormCode(token: string, step: 'answer' | 'confirm'): Promise<string> {
  return hashText(`holdpoint/link-form/v1\0${step}\0${token}`);
}
