package tern.sample.api;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** One page of a list of results. The class is a bean, because all serializers in the load tests support beans. */
public final class Page<T> implements Serializable {

    private static final long serialVersionUID = 1L;

    private int pageNo;
    private int total;
    private List<T> result = new ArrayList<>();

    public Page() {}

    public Page(int pageNo, int total, List<T> result) {
        this.pageNo = pageNo;
        this.total = total;
        this.result = result;
    }

    /** Returns the number of this page. The first page has the number 1. */
    public int getPageNo() {
        return pageNo;
    }

    public void setPageNo(int pageNo) {
        this.pageNo = pageNo;
    }

    /** Returns the total number of results on all pages. */
    public int getTotal() {
        return total;
    }

    public void setTotal(int total) {
        this.total = total;
    }

    public List<T> getResult() {
        return result;
    }

    public void setResult(List<T> result) {
        this.result = result;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Page<?> page
                && pageNo == page.pageNo
                && total == page.total
                && Objects.equals(result, page.result);
    }

    @Override
    public int hashCode() {
        return Objects.hash(pageNo, total, result);
    }

    @Override
    public String toString() {
        return "Page[pageNo=" + pageNo + ", total=" + total + ", result=" + result + "]";
    }
}
