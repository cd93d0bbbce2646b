import { type DemoModel, demoLanguageModel, type ModelStep } from '../../demo-language-model.ts';
import { type Errand, errands, whatIDo } from './errands.ts';
import { readTask, type Task } from './read-task.ts';

/** A small, deterministic model that recognises four errands by words in the user's message. */
export function officeModel(wordMs = 0): DemoModel {
  return demoLanguageModel((prompt) => nextTurn(readTask(prompt)), wordMs);
}

function nextTurn({ wish, results }: Task): ModelStep {
  const errand = errandFor(wish);
  if (errand !== undefined) return errand.next({ wish, results });
  const [choice, ...later] = results;
  if (choice === undefined) return askWhat();
  if (choice.value === 'cancelled') return { text: 'All right. Tell me when there is something.' };
  const chosen = String(choice.value);
  return (
    errandFor(chosen)?.next({ wish: chosen, results: later }) ?? {
      text: `I am only a small demo model, and can't do that. ${whatIDo}`,
    }
  );
}

function errandFor(wish: string): Errand | undefined {
  return errands.find(({ keyword }) => keyword.test(wish));
}

function askWhat(): ModelStep {
  const options = errands.map(({ title }) => title);
  return {
    text: 'I am the assistant of a small office.',
    calls: [
      {
        toolName: 'user_choice',
        input: { question: 'What can I do for you?', options: JSON.stringify(options) },
      },
    ],
  };
}
