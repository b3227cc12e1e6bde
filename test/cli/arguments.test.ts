/** Command lines that are accepted, and how others are refused. */
import * as assert from 'uvu/assert'
import { isLocal, parseCommand } from '../../lib/cli/arguments.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

const TOKEN = 'a'.repeat(16)

describe('the command line', (test) => {
	test('needs a database only', () => {
		assert.equal(parseCommand(['blog.json'], {}), {
			...{
				action: 'serve',
				source: 'blog.json',
				tables: undefined,
				schema: undefined,
				host: '127.0.0.1',
				port: 3000,
			},
			...{ isWritable: false, token: undefined, shownToken: '$VERBENA_TOKEN', isWatching: false },
		})
	})

	test('takes options before and after it', () => {
		const words = '--write --tables=a,b postgres://h/d --schema s --port 0 --host 0.0.0.0 --watch'
		assert.equal(parseCommand(words.split(' '), { VERBENA_TOKEN: TOKEN }), {
			...{
				action: 'serve',
				source: 'postgres://h/d',
				tables: ['a', 'b'],
				schema: 's',
				host: '0.0.0.0',
				port: 0,
			},
			...{ isWritable: true, token: TOKEN, shownToken: '$VERBENA_TOKEN', isWatching: true },
		})
	})

	test('may say what to write', () => {
		for (const action of ['types', 'eject']) {
			const command = parseCommand([action, 'blog.db', '--write'], {})
			assert.ok(typeof command !== 'string')
			assert.equal([command.action, command.source, command.isWritable], [action, 'blog.db', true])
		}
	})

	test('asks for help or the version', () => {
		assert.is(parseCommand(['--help'], {}), 'help')
		assert.is(parseCommand(['-h', 'blog.json'], {}), 'help')
		assert.is(parseCommand(['-v'], {}), 'version')
	})

	const refused: readonly (readonly [words: string, message: RegExp, env?: NodeJS.ProcessEnv])[] = [
		['', /^Which database\?.*\n\nServes a database/],
		['eject a.db --port 3001', /^--port is for serving: eject takes --tables, --schema and --write$/],
		['types a.db --watch', /^--watch is for serving/],
		['types', /^Which database\?/],
		['eject a.json b.json', /^One database at a time, got 2/],
		['typs a.json', /^There is no command typs: did you mean types\?/],
		['a.json b.json', /^One database at a time, got 2: write --tables a,b/],
		['a.json --prot 1', /^There is no option --prot: did you mean --port\?/],
		['a.json -p 1', /^There is no option -p/],
		['a.json --port', /'--port <value>' argument missing/],
		['a.json --port -1', /^Option '--port' argument is ambiguous\.\nDid you forget/],
		['a.json --port 65536', /^--port must be a number from 0 to 65535, got "65536"/],
		['a.json --port 1e3', /^--port must be a number/],
		['a.json --tables a,,b', /^--tables needs names/],
		['a.json --token short', /^The token must have at least 16 characters, got 5/],
		[`a.json --token ${TOKEN}é`, /^The token may have letters, digits/],
		['a.json --host 0.0.0.0', /^On 0\.0\.0\.0 others can read every table: they must send a token/],
		['a.json --host :: --write', /^On :: others can read and change every table/],
		['postgres://u:secret@h/d --host 0.0.0.0', /^(?!.*secret)/s],
		['a.json --host 192.168.0.1', /\n {2}export VERBENA_TOKEN=\$\(openssl rand -hex 24\)$/],
		['a.json --host 0.0.0.0', /they must send a token/, { VERBENA_TOKEN: '' }],
	]
	for (const [words, message, env = {}] of refused)
		test(`refuses: ${words}`, () => {
			const said = messageOf(() => parseCommand(words === '' ? [] : words.split(' '), env))
			assert.match(said, message)
		})

	test('loopback addresses are those of this machine alone', () => {
		for (const host of ['localhost', '127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1'])
			assert.ok(isLocal(host), host)
		for (const host of ['0.0.0.0', '::', '127.0.0.1.example.com', '10.0.0.1', '127.example.com'])
			assert.not.ok(isLocal(host), host)
	})
})
