/** The module `verbena/client`, as a browser loads it. */
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import * as assert from 'uvu/assert'
import { describe } from '../helpers/describe.ts'
import { ROOT } from '../helpers/program.ts'

describe('client: the module', (test) => {
	test('is small, and needs nothing from Node', async () => {
		// A `node:` import can't be resolved on this platform, and would fail the build.
		const { outputFiles, metafile } = await build({
			entryPoints: [`${ROOT}/lib/client/index.ts`],
			...{ bundle: true, minify: true, write: false, metafile: true },
			...{ format: 'esm', platform: 'browser', target: 'es2022' },
		})
		const inputs = Object.keys(metafile.inputs).map((file) => file.split('lib/').at(-1) ?? '')
		assert.equal(
			inputs.filter((file) => !/^(?:client|wire)\//.test(file)),
			[],
		)
		const [module] = outputFiles
		assert.is(outputFiles.length, 1)
		assert.ok(module !== undefined && gzipSync(module.contents).length < 11_950)
		const [{ exports = [] } = {}] = Object.values(metafile.outputs)
		assert.equal(exports, ['ApiError', 'CrudClient', 'client', 'etagOf', 'signRequest'])
	})

	for (const [name, most] of [
		// ApiError is caught along with it, and is part of it anyway.
		['CrudClient, ApiError', 8_050],
		['client', 4_950],
		['signRequest', 3_300],
	] as const) {
		test(`importing ${name} alone loads nothing else`, async () => {
			const contents = `export { ${name} } from './lib/client/index.ts'`
			const { outputFiles } = await build({
				stdin: { contents, resolveDir: ROOT },
				...{ bundle: true, minify: true, write: false },
				...{ format: 'esm', platform: 'browser', target: 'es2022' },
			})
			const [module] = outputFiles
			assert.ok(module !== undefined && gzipSync(module.contents).length < most)
		})
	}
})
