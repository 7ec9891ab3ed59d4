/** Encodes Java values as JSON with the application's Jackson mapper and additional limits. Needs Jackson 3. */
@NullMarked
package tern.rpc.serialization.json;

import org.jspecify.annotations.NullMarked;
