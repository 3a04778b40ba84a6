// Answers for cc-safety-net what hermes check --jsonl answers: one object a line in, one verdict a line out.
import { checkCommand } from 'cc-safety-net/api';
import { createInterface } from 'node:readline';

let out = '';
for await (const line of createInterface({ input: process.stdin, crlfDelay: Infinity })) {
  const { id, command } = JSON.parse(line);
  let verdict;
  try {
    verdict = checkCommand({ command, cwd: process.cwd() }).kind;
  } catch {
    verdict = 'deny';
  }
  out += JSON.stringify({ id, verdict }) + '\n';
}
process.stdout.write(out);
