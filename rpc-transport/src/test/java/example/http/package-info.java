/** The example of docs/http.md, written as a user would write it. */
@NullMarked
package example.http;

import org.jspecify.annotations.NullMarked;
