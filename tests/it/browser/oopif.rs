//! Iframes in processes of their own: seen, evaluated, followed when they move and gone when they go.
