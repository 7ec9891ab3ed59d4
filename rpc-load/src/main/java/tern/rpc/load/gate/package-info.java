/**
 * A gate for builds: {@link tern.rpc.load.gate.SloGate} calls one method with JSON over HTTP and fails the build if the
 * application misses its target. It then prints the diagnosis of the application.
 */
@NullMarked
package tern.rpc.load.gate;

import org.jspecify.annotations.NullMarked;
