/** Collections and maps like those of libraries. No service declares them. */
@org.jspecify.annotations.NullMarked
package com.example.library;
