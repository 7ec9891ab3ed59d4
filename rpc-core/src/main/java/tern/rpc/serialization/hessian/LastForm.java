package tern.rpc.serialization.hessian;

import com.alibaba.com.caucho.hessian.io.HessianProtocolException;
import org.jspecify.annotations.Nullable;

/**
 * The form of the class that one place met last, such as a field: most places meet one class alone, and need not look it
 * up. Those that meet several stop to remember. Thread-safe: threads that race look it up again.
 */
final class LastForm {

    private static final int MAX_CHANGES = 16;

    private @Nullable Known known;
    private int changes;

    WireForm of(Class<?> type, WireForms forms) throws HessianProtocolException {
        Known last = known;
        return last != null && last.type == type ? last.form : lookUp(type, forms);
    }

    private WireForm lookUp(Class<?> type, WireForms forms) throws HessianProtocolException {
        WireForm form = forms.of(type);
        if (changes < MAX_CHANGES) {
            changes++;
            known = new Known(type, form);
        }
        return form;
    }

    private record Known(Class<?> type, WireForm form) {}
}
