import type { IncomingHttpHeaders } from 'node:http';
import type { ScriptedStep } from '../support/script.ts';

/** A provider's API as a server speaks it in one played script: what it refuses, and how it answers. */
export interface ProviderProtocol {
  /** The one path that requests go to. */
  path: string;
  /** What a request breaks of the API's rules; none: it is answered. */
  violations(body: unknown, headers: IncomingHttpHeaders): string[];
  /** The answer to a request without violations. */
  answer(step: ScriptedStep, body: unknown): object;
  /** The body of the provider's HTTP 400. */
  refusal(message: string): object;
}
