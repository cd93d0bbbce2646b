import type { JSONValue } from 'ai';
import { z } from 'zod';

/** Additional data by provider: the AI SDK's `ProviderMetadata`. */
export interface Notes {
  [provider: string]: { [name: string]: JSONValue | undefined };
}
const providerMetadataSchema = z.custom<Notes>(isObject);

/** What a provider returned with a step besides the assistant message. It is kept for the record, and not sent to the model again. */
export const stepMetadataSchema = z.strictObject({
  /** The provider's id of its response, and the model that made it. */
  response: z
    .strictObject({ id: z.string().optional(), modelId: z.string().optional() })
    .optional(),
  providerMetadata: providerMetadataSchema.optional(),
  /** The sources that the model cited. */
  sources: z.array(z.custom<Source>(isObject)).optional(),
});

/** Whether a value is an object, and not an array. */
export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a provider returned with a step besides the assistant message. */
export type StepMetadata = z.infer<typeof stepMetadataSchema>;
/** A source that a model cited, as in the AI SDK. */
export type Source =
  | {
      type: 'source';
      sourceType: 'url';
      id: string;
      url: string;
      title?: string;
      providerMetadata?: Notes;
    }
  | {
      type: 'source';
      sourceType: 'document';
      id: string;
      mediaType: string;
      title: string;
      filename?: string;
      providerMetadata?: Notes;
    };
