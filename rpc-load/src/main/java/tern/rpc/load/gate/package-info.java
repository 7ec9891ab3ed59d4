/**
 * Fails a build when an application misses its target: {@link tern.rpc.load.gate.SloGate} drives one method by JSON over
 * HTTP, and tells what the application says of itself when it is too slow.
 */
@NullMarked
package tern.rpc.load.gate;

import org.jspecify.annotations.NullMarked;
