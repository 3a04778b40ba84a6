// Runs each line of its input as a command in srt's sandbox, used as a library, and answers with the exit code.
import { SandboxManager } from '@anthropic-ai/sandbox-runtime'
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const tree = process.argv[2]
await SandboxManager.initialize({
  network: { allowedDomains: [], deniedDomains: [] },
  filesystem: { denyRead: ['~/.ssh'], allowWrite: [tree, '/tmp'], denyWrite: ['.env'] },
})
console.log('ready')
for await (const line of createInterface({ input: process.stdin })) {
  const command = await SandboxManager.wrapWithSandbox(line)
  const child = spawn(command, { shell: true, stdio: 'ignore', cwd: tree })
  console.log(await new Promise((done) => child.on('exit', (code, signal) => done(signal ?? code))))
}
await SandboxManager.reset()
process.exit(0)
