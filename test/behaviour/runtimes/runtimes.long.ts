/**
 * The published package on other runtimes: Bun and Deno run a server, workerd calls `fetch`. Their binaries come from the npm
 * registry.
 */
import * as assert from 'uvu/assert'
import { describe } from '../../helpers/describe.ts'
import { until } from '../../helpers/listening.ts'
import { freePorts, type Running, start, untilPrinted } from '../../helpers/program.ts'
import { binary, project, startWorker } from './tools.ts'

const RUNTIMES: [name: string, command: () => Promise<{ program?: string; args: string[] }>][] = [
	['Node', async () => ({ args: ['program.mjs'] })],
	['Bun', async () => ({ program: await binary('@oven', 'bin/bun'), args: ['program.mjs'] })],
	[
		'Deno',
		async () => ({ program: await binary('@deno', 'deno'), args: ['run', '-A', '--no-lock', 'program.mjs'] }),
	],
]

async function asked(url: string, method = 'GET', body?: unknown): Promise<[status: number, data: unknown]> {
	const init = body === undefined ? {} : { body: JSON.stringify(body) }
	const response = await fetch(url, { method, headers: { 'Content-Type': 'application/json' }, ...init })
	const { data, code } = (await response.json()) as { data?: unknown; code?: string }
	return [response.status, code ?? data]
}

/** The same requests, with the same responses, on every runtime. */
async function checkAnswers(url: string): Promise<void> {
	assert.equal(await asked(`${url}/hello/Ada%20L`), [200, 'Ada L'])
	assert.equal(await asked(`${url}/hello`, 'POST', {}), [405, 'method_not_allowed'])
	assert.equal(await asked(`${url}/nothing`), [404, 'not_found'])
	assert.equal(await asked(`${url}/echo`, 'POST', { title: 'é', tags: ['a'] }), [
		200,
		{ title: 'é', tags: ['a'] },
	])
	assert.equal(await asked(`${url}/echo`, 'POST', { title: 5 }), [422, 'invalid'])
	assert.equal(await asked(`${url}/bytes`, 'POST', 'x'.repeat(500_000)), [200, 500_002])
	assert.equal(await asked(`${url}/bytes`, 'POST', 'x'.repeat(1_500_000)), [413, 'content_too_large'])
	assert.equal(await asked(`${url}/stream`), [200, [{ id: 1 }, { id: 2 }, { id: 3 }]])
	assert.equal(await asked(`${url}/note`, 'POST', { text: 'one' }), [201, { id: 1, text: 'one' }])
	assert.equal(await asked(`${url}/note`, 'POST', { text: 'x'.repeat(21) }), [422, 'invalid'])
	assert.equal(await asked(`${url}/note/1`), [200, { id: 1, text: 'one' }])
	assert.equal(await asked(`${url}/note/1`, 'PATCH', { text: 'two' }), [200, { id: 1, text: 'two' }])
	assert.equal(await asked(`${url}/note/1`, 'PUT', { text: 'three' }), [200, { id: 1, text: 'three' }])
	const made = await Promise.all(
		Array.from({ length: 20 }, (_, at) => asked(`${url}/note`, 'POST', { text: `n${at}` })),
	)
	assert.equal(new Set(made.map(([status]) => status)), new Set([201]))
	// Twenty at once have their ids in any order.
	assert.equal(await asked(`${url}/note?text[contains]=n1&limit=1&sort=text&fields=text`), [
		200,
		[{ text: 'n1' }],
	])
	assert.equal(await asked(`${url}/note/1`, 'DELETE'), [200, { id: 1, text: 'three' }])
	assert.equal(await asked(`${url}/note/1`), [404, 'not_found'])
	const once = await Promise.all([1, 2, 3].map(() => asked(`${url}/once/key`)))
	assert.equal(once, Array(3).fill([200, 'key']))
	const counted = await Promise.all([1, 2, 3, 4, 5].map(() => asked(`${url}/counted`)))
	assert.equal(counted.map(([status]) => status).sort(), [200, 200, 200, 429, 429])
	const waited = await Promise.all(Array.from({ length: 20 }, (_, at) => asked(`${url}/wait/${at * 10}`)))
	assert.equal(
		waited,
		Array.from({ length: 20 }, (_, at) => [200, at * 10]),
	)
}

describe('runtimes', (test) => {
	for (const [name, command] of RUNTIMES) {
		test(`${name}: requests are answered, and close() ends the process after the last response`, async () => {
			const program = start({ ...(await command()), cwd: await project() })
			try {
				await untilPrinted(program, 'http://127.0.0.1:')
				const { output } = program
				assert.match(output(), /^200 \{"success":true,"data":"fetch"\}$/m)
				const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(output()) ?? []
				await checkAnswers(url)
				const slow = asked(`${url}/wait/2000`)
				await asked(`${url}/wait/500`)
				program.child.kill('SIGTERM')
				assert.equal(await slow, [200, 2_000])
				await untilPrinted(program, '\nclosed')
				assert.is(await program.ended, 0, output())
				assert.not.match(output(), /error/i)
			} finally {
				program.child.kill('SIGKILL')
				await program.ended
			}
		})
	}

	test('workerd: fetch answers, requests time out, and compressed responses can be decoded', async () => {
		const [port = 0] = await freePorts(1)
		const program = await startWorker(await project(), port)
		try {
			const url = `http://127.0.0.1:${port}`
			await until(() => isUp(program, url), 'an answer of workerd')
			await checkAnswers(url)
			// The first request's timers end with it: later requests have their own.
			const late = await Promise.all([1, 2].map(() => asked(`${url}/wait/20000`)))
			assert.equal([...late, await asked(`${url}/wait/20000`)], Array(3).fill([503, 'unavailable']))
			const { paths } = (await (await fetch(`${url}/openapi.json`)).json()) as { paths: object }
			assert.ok('/note/{id}' in paths)
			const page = await fetch(`${url}/note`, { headers: { Accept: 'text/html' } })
			assert.match(await page.text(), /^<!doctype html>/)
			assert.not.match(program.output(), /exception|hung|error/i)
		} finally {
			program.child.kill('SIGKILL')
			await program.ended
		}
	})
})

async function isUp({ child, output }: Running, url: string): Promise<boolean> {
	assert.is(child.exitCode, null, output())
	try {
		return (await fetch(`${url}/hello`)).ok
	} catch {
		return false
	}
}
