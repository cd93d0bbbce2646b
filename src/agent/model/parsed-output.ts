import { type LanguageModelUsage, NoOutputGeneratedError } from 'ai';

/** The part of a response that the AI SDK's errors report. */
interface ParsedResponse {
  status: string;
  text: string;
  usage: LanguageModelUsage | undefined;
  finishReason: string | undefined;
}

/** The AI SDK's `Output`, as far as it parses a response. */
export interface OutputParser {
  parseCompleteOutput(
    options: { text: string },
    context: Partial<Pick<ParsedResponse, 'usage' | 'finishReason'>>,
  ): Promise<unknown>;
}

/**
 * Adds the structured output to a response. If the model has not replied, or its text does not match, reading `output` throws the AI SDK's
 * error.
 */
export async function withOutput<RESPONSE extends ParsedResponse>(
  response: RESPONSE,
  parser: OutputParser | undefined,
): Promise<RESPONSE> {
  if (parser === undefined) return response;
  try {
    if (response.status !== 'completed') throw new NoOutputGeneratedError();
    return { ...response, output: await parser.parseCompleteOutput(response, response) };
  } catch (error) {
    const get = (): never => {
      throw error;
    };
    /* Not enumerable, so that the response can be copied and logged. */
    return Object.defineProperty(response, 'output', { get, enumerable: false });
  }
}
