/** The tarball that is published, made of a copy of the repository, so that its own `dist/` is left alone. */
import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT, run } from '../../helpers/program.ts'

/** What `npm pack` builds and packs. */
const NEEDED = [
	...['lib', 'docs', 'package.json', 'tsconfig.json', 'tsconfig.build.json', 'tsconfig.page.json'],
	...['test/package', 'test/helpers', 'README.md', 'CHANGELOG.md', 'LICENSE'],
]

/** Builds and packs into `folder`; answers the tarball's path. */
export async function pack(folder: string): Promise<string> {
	const copy = join(folder, 'copy')
	const packed = join(folder, 'packed')
	mkdirSync(copy)
	mkdirSync(packed)
	for (const name of NEEDED) cpSync(`${ROOT}/${name}`, `${copy}/${name}`, { recursive: true })
	symlinkSync(`${ROOT}/node_modules`, `${copy}/node_modules`, 'dir')
	const { code, output } = await run({
		...{ program: 'npm', args: ['pack', '--loglevel=error', '--pack-destination', packed], cwd: copy },
		env: { npm_config_dry_run: 'false' },
	})
	const [name, ...others] = readdirSync(packed)
	if (code !== 0 || name === undefined || others.length > 0)
		throw new Error(`npm pack has failed:\n${output}`)
	return join(packed, name)
}
