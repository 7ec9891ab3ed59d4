package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.HessianProtocolException;
import org.jspecify.annotations.Nullable;

/**
 * Caches the {@link WireForm} for the class of the last value at one place, such as a field. Most places contain values
 * of only one class and need no other lookup. If values of several classes are written at a place, caching ends for
 * this place. Thread-safe. Concurrent threads may repeat a lookup.
 */
final class LastForm {

    private static final int MAX_CHANGES = 16;

    private @Nullable Known known;
    private int changes;

    WireForm of(Class<?> type, WireForm.Lookup forms) throws HessianProtocolException {
        Known last = known;
        return last != null && last.type == type ? last.form : lookUp(type, forms);
    }

    private WireForm lookUp(Class<?> type, WireForm.Lookup forms) throws HessianProtocolException {
        WireForm form = forms.of(type);
        if (changes < MAX_CHANGES) {
            changes++;
            known = new Known(type, form);
        }
        return form;
    }

    private record Known(Class<?> type, WireForm form) {}
}
