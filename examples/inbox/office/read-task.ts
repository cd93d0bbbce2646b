import type { Prompt } from '../../demo-language-model.ts';

type Message = Prompt[number];
type ToolContent = Extract<Message, { role: 'tool' }>['content'][number];
type ResultPart = Extract<ToolContent, { output: unknown }>;

/** The result of a call: its output, or why there is none. */
export interface Result {
  toolName: string;
  input: unknown;
  status: 'done' | 'denied' | 'failed';
  /** The output; for a denied call the reason, for a failed one the error. */
  value: unknown;
}

/** What the user wants, and the results so far. */
export interface Task {
  wish: string;
  results: Result[];
}

/** The task of the user's last message; earlier ones are finished. */
export function readTask(prompt: Prompt): Task {
  const inputs = new Map<string, unknown>();
  return prompt.reduce<Task>(
    (task, message) => {
      switch (message.role) {
        case 'system':
          return task;
        case 'user':
          return { wish: textOf(message.content), results: [] };
        case 'assistant':
          for (const part of message.content) {
            if (part.type === 'tool-call') inputs.set(part.toolCallId, part.input);
          }
          return task;
        case 'tool':
          return { ...task, results: [...task.results, ...message.content.flatMap(resultIn)] };
      }
    },
    { wish: '', results: [] },
  );

  function resultIn(part: ToolContent): Result[] {
    if (part.type !== 'tool-result') return [];
    const { toolCallId, toolName, output } = part;
    return [{ toolName, input: inputs.get(toolCallId), ...outcomeOf(output) }];
  }
}

function outcomeOf(output: ResultPart['output']): Pick<Result, 'status' | 'value'> {
  switch (output.type) {
    case 'execution-denied':
      return { status: 'denied', value: output.reason };
    case 'error-text':
    case 'error-json':
      return { status: 'failed', value: output.value };
    default:
      return { status: 'done', value: output.value };
  }
}

function textOf(content: Extract<Message, { role: 'user' }>['content']): string {
  return content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
}
