import type { ProviderMetadata } from 'ai';
import { z } from 'zod';

/** What a provider returned with a step besides the assistant message. It is kept for the record, and not sent to the model again. */
export interface StepMetadata {
  /** The provider's id of its response, and the model that made it. */
  response?: { id?: string | undefined; modelId?: string | undefined } | undefined;
  providerMetadata?: ProviderMetadata | undefined;
  /** The sources that the model cited. */
  sources?: Source[] | undefined;
}

/** A source that a model cited, as in the AI SDK. */
export type Source =
  | {
      type: 'source';
      sourceType: 'url';
      id: string;
      url: string;
      title?: string;
      providerMetadata?: ProviderMetadata;
    }
  | {
      type: 'source';
      sourceType: 'document';
      id: string;
      mediaType: string;
      title: string;
      filename?: string;
      providerMetadata?: ProviderMetadata;
    };

/** The schema of step metadata. */
export const stepMetadataSchema: z.ZodType<StepMetadata> = z.strictObject({
  response: z
    .strictObject({ id: z.string().optional(), modelId: z.string().optional() })
    .optional(),
  providerMetadata: z.custom<ProviderMetadata>(isObject).optional(),
  sources: z.array(z.custom<Source>(isObject)).optional(),
});

/** Whether a value is an object, and not an array. */
export function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
