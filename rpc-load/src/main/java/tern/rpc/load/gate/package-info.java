/**
 * A build check: {@link tern.rpc.load.gate.SloGate} calls one method with JSON over HTTP. If the application misses its
 * target, the check fails the build and prints the application's diagnosis.
 */
@NullMarked
package tern.rpc.load.gate;

import org.jspecify.annotations.NullMarked;
