import { z } from 'zod';

/** The place of a span in its trace, as W3C Trace Context version 00 writes it; never all zeros. */
export const traceparentSchema = z
  .string()
  .regex(/^00-(?!0{32})[\da-f]{32}-(?!0{16})[\da-f]{16}-[\da-f]{2}$/);
