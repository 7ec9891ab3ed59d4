/**
 * Encodes and decodes protobuf messages in binary and JSON form. This package can be used even if protobuf is not on
 * the class path.
 */
@NullMarked
package tern.rpc.serialization.protobuf;

import org.jspecify.annotations.NullMarked;
