/** The published package in a project that has other runtimes, test runners and compilers, all from the npm registry. */
import {
	cpSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { build } from 'esbuild'
import * as assert from 'uvu/assert'
import { npm, packed } from '../../helpers/packed.ts'
import { ROOT, type Running, start } from '../../helpers/program.ts'

const HERE = join(ROOT, 'test/behaviour/runtimes')

let installed: Promise<string> | undefined

/** The project's folder; installed once per process, and deleted at its end. */
export function project(): Promise<string> {
	installed ??= install()
	return installed
}

async function install(): Promise<string> {
	const folder = mkdtempSync(join(tmpdir(), 'verbena-runtimes-'))
	process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
	cpSync(join(HERE, 'package.json'), join(folder, 'package.json'))
	await installInto(folder, await packed())
	for (const name of ['pg', 'tsx'])
		symlinkSync(`${ROOT}/node_modules/${name}`, `${folder}/node_modules/${name}`)
	for (const name of readdirSync(HERE).filter((one) => one.endsWith('.mjs')))
		cpSync(join(HERE, name), join(folder, name))
	return folder
}

async function installInto(folder: string, ...packages: string[]): Promise<void> {
	const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--no-package-lock']
	const { code, output } = await npm(folder, 'install', ...flags, ...packages)
	assert.is(code, 0, output)
}

/** The executable in a scope's package for this platform: npm runs no install scripts, which would have moved it. */
export async function binary(scope: string, file: string): Promise<string> {
	const within = join(await project(), 'node_modules', scope)
	const found = readdirSync(within).map((name) => join(within, name, file))
	const [first = ''] = found.filter((path) => existsSync(path))
	assert.is.not(first, '', `no ${file} in ${found.join(', ')}`)
	return first
}

/**
 * The executables of Node by their versions: this one; those that `NODES` names (`24=/path/node:26=/path/node`), as `.ci/run` does;
 * others from the registry.
 */
export async function nodes(versions: readonly string[]): Promise<ReadonlyMap<string, string>> {
	const named = (process.env.NODES ?? '').split(delimiter).filter(Boolean)
	const known = new Map(named.map((one) => one.split('=', 2) as [string, string]))
	known.set(process.versions.node.replace(/\..*/, ''), process.execPath)
	const missing = versions.filter((version) => !known.has(version))
	const name = `node-${process.platform}-${process.arch}`
	const folder = join(await project(), 'nodes')
	for (const version of missing) {
		mkdirSync(`${folder}/${version}`, { recursive: true })
		writeFileSync(`${folder}/${version}/package.json`, '{ "private": true }')
		await installInto(`${folder}/${version}`, `${name}@${version}`)
		known.set(version, `${folder}/${version}/node_modules/${name}/bin/node`)
	}
	return new Map(versions.map((version) => [version, known.get(version) ?? '']))
}

/** workerd with the `worker.mjs` of a folder, bundled as wrangler does it. */
export async function startWorker(folder: string, port: number): Promise<Running> {
	await build({
		entryPoints: [join(folder, 'worker.mjs')],
		outfile: join(folder, 'worker.js'),
		...{ bundle: true, format: 'esm', platform: 'node', logLevel: 'warning' },
	})
	const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
	services = [(name = "main", worker = (
		modules = [(name = "worker", esModule = embed "worker.js")],
		compatibilityDate = "2026-11-01",
	))],
	sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);`
	writeFileSync(join(folder, 'config.capnp'), config)
	return start({
		program: await binary('@cloudflare', 'bin/workerd'),
		args: ['serve', 'config.capnp'],
		cwd: folder,
	})
}
