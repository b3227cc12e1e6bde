import * as assert from 'uvu/assert'
import { type CorsOptions, createServer } from '../../lib/index.ts'
import { messageOf } from '../helpers/asking.ts'
import { describe } from '../helpers/describe.ts'

/** Refused whatever its type says: most users write JavaScript. */
function refusal(cors: unknown): string {
	return messageOf(() => createServer({}, { cors: cors as CorsOptions }))
}

const APP = 'https://app.example.com'

describe('cors/options', (test) => {
	const taken: CorsOptions[] = [
		{ origins: [APP] },
		{ origins: ['http://localhost:5173', 'http://127.0.0.1', 'http://[::1]:8080'] },
		{ origins: ['https://xn--bcher-kva.example', 'capacitor://localhost', 'chrome-extension://abcdefgh'] },
		{ origins: '*' },
		{ origins: '*', credentials: false, maxAgeSeconds: 0 },
		{ origins: () => true, credentials: true, maxAgeSeconds: 86_400, exposedHeaders: ['X-Own'] },
	]
	for (const cors of taken) {
		test(`${JSON.stringify(cors)} is accepted`, () => {
			createServer({}, { cors })
		})
	}

	const origins = "cors.origins must be a list of origins, ['https://app.example.com'], '*', or a function"
	const exact = 'must be an origin as browsers send it, a scheme and a host in lower case'
	const refused: [cors: unknown, message: string][] = [
		[true, "cors must be an object: { origins: ['https://app.example.com'] }, got true"],
		['*', 'cors must be an object'],
		[[APP], 'cors must be an object'],
		[null, 'cors must be an object'],
		[{}, `${origins} (origin) => boolean, got undefined`],
		[{ origins: [] }, `${origins} (origin) => boolean, got an empty array`],
		[{ origins: APP }, `${origins} (origin) => boolean, got "${APP}"`],
		[{ origins: true }, 'got true'],
		[{ origins: /example/ }, 'got /example/'],
		[{ origin: [APP] }, 'cors has no option origin: did you mean origins?'],
		[{ origins: [APP], methods: ['GET'] }, 'cors has no option methods; there are origins, credentials'],
		[
			{ origins: [APP, 'null'] },
			"cors.origins[1] must not be 'null', which sandboxed frames of every site send",
		],
		[
			{ origins: ['*'] },
			`cors.origins[0] can't have wildcards, got "*": write origins: '*' for all, or a function`,
		],
		[
			{ origins: [/\.example\.com$/] },
			'(for a pattern write a function (origin) => boolean), got /\\.example\\.com$/',
		],
		[{ origins: [5] }, 'cors.origins[0] must be a string'],
		[
			{ origins: [`${APP}/`] },
			`${exact}, and a port unless it is the scheme's default, got "${APP}/": write "${APP}"`,
		],
		[{ origins: ['https://APP.example.com'] }, `${exact}`],
		[{ origins: [`${APP}:443`] }, `got "${APP}:443": write "${APP}"`],
		[{ origins: [`${APP}/path?a#b`] }, `write "${APP}"`],
		[{ origins: ['https://user@app.example.com'] }, `write "${APP}"`],
		[{ origins: ['https://bücher.example'] }, 'write "https://xn--bcher-kva.example"'],
		[{ origins: ['https://*.example.com'] }, "cors.origins[0] can't have wildcards"],
		[{ origins: ['app.example.com'] }, exact],
		[{ origins: ['localhost:5173'] }, exact],
		[{ origins: ['//app.example.com'] }, exact],
		[{ origins: ['file://'] }, exact],
		[{ origins: ['data:text/html,x'] }, exact],
		[{ origins: ['capacitor://localhost/'] }, exact],
		[{ origins: [`${APP}\r\nX: y`] }, exact],
		[{ origins: [''] }, exact],
		[{ origins: '*', credentials: true }, "cors: origins '*' with credentials would let every site act"],
		[{ origins: [APP], credentials: 'include' }, 'cors.credentials must be true or false, got "include"'],
		[
			{ origins: [APP], maxAgeSeconds: -1 },
			'cors.maxAgeSeconds must be a whole number of seconds from 0 to 86400, got -1',
		],
		[{ origins: [APP], maxAgeSeconds: 86_401 }, 'got 86401'],
		[{ origins: [APP], maxAgeSeconds: 1.5 }, 'got 1.5'],
		[{ origins: [APP], maxAgeSeconds: '10m' }, 'got "10m"'],
		[{ origins: [APP], maxAgeSeconds: null }, 'got null'],
		[{ origins: [APP], maxAge: 600 }, 'cors has no option maxAge: it is maxAgeSeconds, in seconds'],
		[{ origins: [APP], exposedHeaders: 'X-Own' }, "cors.exposedHeaders must be a list of headers' names"],
		[
			{ origins: [APP], exposedHeaders: ['X Own'] },
			"cors.exposedHeaders[0] must be a header's name: 'X-Version', got \"X Own\"",
		],
		[{ origins: [APP], exposedHeaders: ['X-Own', '*'] }, 'cors.exposedHeaders[1]'],
		[{ origins: [APP], exposedHeaders: [5] }, 'cors.exposedHeaders[0]'],
	]
	for (const [cors, message] of refused) {
		test(`${JSON.stringify(cors)} is refused: ${message}`, () => {
			const error = refusal(cors)
			assert.ok(error.includes(message), error)
		})
	}

	test('an out-of-range time is a RangeError, anything else a TypeError', () => {
		assert.throws(
			() => createServer({}, { cors: { origins: [APP], maxAgeSeconds: -1 } }),
			(error: unknown) => error instanceof RangeError,
		)
		assert.throws(
			() => createServer({}, { cors: { origins: [] } }),
			(error: unknown) => error instanceof TypeError,
		)
	})

	test('its type rejects missing and wrong properties', () => {
		// @ts-expect-error nobody is named
		const none: CorsOptions = {}
		// @ts-expect-error one origin is a list of one
		const one: CorsOptions = { origins: APP }
		// @ts-expect-error a promise lets nobody in
		const late: CorsOptions = { origins: async () => true }
		// @ts-expect-error no such name
		const unknown: CorsOptions = { origins: '*', methods: ['GET'] }
		assert.is([none, one, late, unknown].length, 4)
	})
})
