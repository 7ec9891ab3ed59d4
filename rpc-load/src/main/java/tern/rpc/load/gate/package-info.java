/**
 * A check for builds: {@link tern.rpc.load.gate.SloGate} calls one method with JSON over HTTP and fails the build if
 * the application misses its target. In that case it prints the application's diagnosis.
 */
@NullMarked
package tern.rpc.load.gate;

import org.jspecify.annotations.NullMarked;
