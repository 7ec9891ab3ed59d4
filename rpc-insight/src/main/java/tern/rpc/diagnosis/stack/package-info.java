/** Reads thread stacks: which lock, result, file, library or application code a thread is waiting for or running. */
@NullMarked
package tern.rpc.diagnosis.stack;

import org.jspecify.annotations.NullMarked;
