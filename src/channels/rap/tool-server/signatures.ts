import { randomId } from '../../../content/random-id.ts';
import { WebhookSignatures } from '../webhook-signatures.ts';

/** Signs what goes and checks what comes, by Standard Webhooks. */
export interface Signatures {
  /** Whether a body was signed by somebody with a secret; a body that could not be read was not. */
  isSigned(headers: Headers, text: string | undefined): boolean;
  /** Headers for each try of sending one message: its id stays, its time is that of the try. */
  signer(text: string): () => Record<string, string>;
}

/** Nothing is signed, and nothing needs to be. */
const none: Signatures = { isSigned: () => true, signer: () => () => ({}) };

/** Throws a `TypeError` for a secret that is none, or too short. */
export function signatures(secret: string | readonly string[] | undefined): Signatures {
  if (secret === undefined) return none;
  const known = new WebhookSignatures({ secret });
  return {
    isSigned: (headers, text) => text !== undefined && known.know(headers, text),
    signer(text) {
      const id = `msg_${randomId()}`;
      return () => known.headersFor(id, text);
    },
  };
}
