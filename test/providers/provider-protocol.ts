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
  /** How the same answer is streamed. */
  stream: StreamProtocol;
  /** The body of the provider's HTTP 400. */
  refusal(message: string): object;
}

/** How a provider's API streams: the texts of its server-sent events. */
export interface StreamProtocol {
  /** The events that an answer comes in, in the API's own order. */
  events(answer: object, asked: StreamedRequest): Iterable<string>;
  /** The event that says, in the middle, that nothing more will come. */
  failure(message: string): string;
}

/** A request that asked for a stream. */
export interface StreamedRequest {
  body: unknown;
  /** Cuts a text into what the deltas hold. */
  pieces(text: string): Iterable<string>;
}
