/** Collections and maps that resemble the types of libraries. No service declares them. */
@org.jspecify.annotations.NullMarked
package com.example.library;
