/** Finds the user's own database drivers: in their folder, or beside this package, where `npx -p verbena -p pg` puts them. */
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { attempt } from '../base/attempt.ts'
import { UsageError } from './arguments.ts'

/** A driver's package, imported. */
export interface FoundDriver<Name, Module> {
	readonly name: Name
	readonly module: Module
}

/**
 * Imports the first of some packages that is installed.
 *
 * @param folder the user's current folder
 * @param names packages, the best first
 * @param database for the message: `PostgreSQL`
 * @param beside a file of this package
 * @throws UsageError if none is installed, with the command that installs the first, and if one can't be loaded
 */
export async function driverIn<Module, Name extends string = string>(
	folder: string,
	names: readonly [Name, ...Name[]],
	database: string,
	beside: string = import.meta.url,
): Promise<FoundDriver<Name, Module>> {
	for (const base of [join(folder, 'package.json'), beside]) {
		const { resolve } = createRequire(base)
		for (const name of names) {
			const file = attempt(() => resolve(name))
			if (file !== undefined) return { name, module: await imported<Module>(file, name) }
		}
	}
	const packages = names.map((name) => name.split('/')[0])
	throw new UsageError(
		`${database} needs a driver, and there is none in ${folder}: npm install ${packages[0]}${
			packages.length > 1 ? ` (or ${packages.slice(1).join(', ')})` : ''
		}`,
	)
}

async function imported<Module>(file: string, name: string): Promise<Module> {
	try {
		// Not checked here: the model checks the driver's objects that it is given.
		return (await import(pathToFileURL(file).href)) as Module
	} catch (error) {
		throw new UsageError(`${name} can't be loaded: ${error instanceof Error ? error.message : String(error)}`)
	}
}
